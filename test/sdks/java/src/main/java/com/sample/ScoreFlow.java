package com.sample;

import com.ice.core.annotation.IceField;
import com.ice.core.annotation.IceNode;
import com.ice.core.context.IceRoam;
import com.ice.core.leaf.base.BaseLeafFlow;

@IceNode(name = "Score check", desc = "roam[key] >= score", order = 1)
public class ScoreFlow extends BaseLeafFlow {
    @IceField(name = "threshold", desc = "min score")
    public double score;

    @IceField(name = "key")
    public String key = "score";

    public String memo;

    @Override
    protected boolean doFlow(IceRoam roam) {
        Object value = roam.getDeep(key);
        return value instanceof Number && ((Number) value).doubleValue() >= score;
    }
}
